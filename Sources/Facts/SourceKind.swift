/// The kind of a source or of a view's property, which determines the form of its changes.
package enum SourceKind: String, Sendable {
  /// A single value, replaced as a whole.
  case state
  /// An array, changed step by step.
  case list
  /// A dictionary, changed step by step.
  case map
  /// A loaded value: loading, loaded, reloading or failed.
  case loading
}
