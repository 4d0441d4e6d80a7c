/// What an end throws that is not there at the moment: the value is left out, and nobody is told of a
/// failure.
package struct BindEndIsMissing: Error {
  package init() {}
}
