internal import Configuration
internal import Services
internal import Signals
internal import Wire

extension SourceProvider {
  /// What a role sees of the sources: those that it may read are as they were, and no others are
  /// there.
  ///
  /// - Returns: `nil` when it may neither read nor write any of them.
  func restricted(to role: Role) -> SourceProvider? {
    guard !role.read.allowsAll else { return self }
    let visible = descriptions.filter { description in
      Pattern(description.name).map { role.read.mayAllow($0) || role.write.mayAllow($0) } ?? false
    }
    guard !visible.isEmpty else { return nil }
    return SourceProvider(
      descriptions: visible, isJournaled: isJournaled,
      exists: { [exists] in role.mayRead($0) && exists($0) },
      value: { [value] in role.mayRead($0) ? value($0) : nil },
      newest: { [newest] in role.mayRead($0) ? newest($0) : nil },
      collection: { [collection] in role.mayRead($0) ? collection($0) : nil },
      names: { [names] limit, isWanted in names(limit) { isWanted($0) && role.mayRead($0) } },
      changes: { [changes] in
        role.mayRead($0) ? changes($0) : Signal { _ in NonDisposable.instance }
      },
      changesWhere: { [changesWhere] isWanted in
        changesWhere { isWanted($0) && role.mayRead($0) }
      },
      hides: { [exists] in !role.mayRead($0) && exists($0) })
  }
}
