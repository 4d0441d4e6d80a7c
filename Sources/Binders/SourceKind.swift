/// What kind of thing a source is: how clients see it change.
package enum SourceKind: String {
  /// One value, replaced by the next.
  case state
  /// An array, changed step by step.
  case list
  /// A dictionary, changed step by step.
  case map
  /// A value that is loaded: loading, loaded, reloading, failed.
  case loading
}
