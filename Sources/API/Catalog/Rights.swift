package import Configuration
package import EventSourcing
internal import JSON
package import Model
internal import Wire

/// The part of the catalog that one role may use: the filter that is applied when something is looked up.
///
/// For the clients of the role, nothing else exists.
package final class Rights {
  package let catalog: Catalog
  package let role: Role

  /// Whether the role may read, and write, all sources.
  package let (readsAll, writesAll): (Bool, Bool)

  /// The methods that the role may call.
  let methods: MethodTable

  /// The services when the rights were made; the catalogue may have others by now.
  private let list: [Catalog.Service]

  /// The sources of each service, in the order of the services, restricted to those that the role
  /// may read; `nil` if it may know none of them.
  private let sources: [SourceProvider?]
  private let serviceNames: NameTable

  /// The sources by number of which the role may read all.
  private let numbered: [NumberedSources]

  /// Keeps the broadcasts of this role apart from those of other roles; empty if the role may read
  /// everything.
  package let audience: String

  private let streamNames: Names

  init(of role: Role, in catalog: Catalog, number: Int) {
    self.catalog = catalog
    streamNames = catalog.host.streamNames
    self.role = role
    methods = catalog.methods.filter { role.mayCall($0.name) }
    list = catalog.services
    sources = list.map { $0.sources?.restricted(to: role) }
    serviceNames = NameTable(list.map(\.name))
    numbered = sources.compactMap { $0?.numbered }
    (readsAll, writesAll) = (role.read.allowsAll, role.write.allowsAll)
    mayRecord = role.write.allowsAll ? nil : { role.mayRecordEvents(in: $0) }
    audience = role.read.allowsAll ? "" : " for \(number)"
  }

  // MARK: Looking up

  /// The services with their sources, sorted by name.
  var services: Zip2Sequence<[Catalog.Service], [SourceProvider?]> {
    zip(list, sources)
  }

  /// Returns the sources of a service; `nil` if there is no such service, or if the role may know
  /// none of its sources.
  package func sources(ofService name: String) -> SourceProvider? {
    list.firstIndex { $0.name == name }.flatMap { sources[$0] }
  }

  /// Returns the sources of the service that a source belongs to; see ``sources(ofService:)``.
  package func sources(of source: String) -> SourceProvider? { sources(of: source.utf8.span) }

  /// Returns the sources of the service that a source belongs to, by the bytes of its name.
  func sources(of source: Span<UInt8>) -> SourceProvider? {
    index(of: source).flatMap { sources[$0] }
  }

  /// Returns the service of a source, named by the source's first segment; `nil` if there is none.
  package func service(of source: String) -> Catalog.Service? {
    index(of: source.utf8.span).map { list[$0] }
  }

  /// Returns the number of a name and the durable value of its source, with one look-up.
  ///
  /// - Parameter name: A full name.
  /// - Returns: `nil` if it has no value, or must be found by ``sources(of:)``.
  func known(_ name: Span<UInt8>) -> (number: Int, value: JSONText)? {
    guard let number = streamNames.number(of: name) else { return nil }
    // Not `for … in`, which would retain the list.
    for i in numbered.indices {
      if let value = numbered[i].value(number) { return (number, value) }
    }
    return nil
  }

  private func index(of source: Span<UInt8>) -> Int? {
    var end = 0
    while end < source.count, source[end] != UInt8(ascii: "/") { end += 1 }
    return serviceNames.find(source.extracting(..<end))
  }

  /// Returns the view that clients of the role can open; `nil` if there is none.
  func view(named name: String) -> ViewBinder? {
    if let view = catalog.views[name] ?? catalog.files.views[name] {
      return view.isOffered(role) ? view : nil
    }
    if let view = catalog.provided.view(name) { return isOffered(view) ? view : nil }
    return defaultView(ofService: name)
  }

  /// Whether the role can open a view of a program: it may know the service, and read some of what the
  /// view shows.
  private func isOffered(_ view: ViewBinder) -> Bool {
    guard view.isOffered(role) else { return false }
    if let service = catalog.provided.service(view.service), isVisible(service) { return true }
    return Pattern("services/\(view.service)/**").map(role.read.mayAllow) ?? false
  }

  /// The views that clients of the role can open, sorted by name.
  var views: [ViewBinder] {
    let all = catalog.allViews
    let own = all.values.filter { $0.isOffered(role) }
    let others = viewsOfOthers(isOffered).filter { all[$0.name] == nil }
    return (own + others).sorted { $0.name < $1.name }
  }

  /// Whether a method exists that the role may not call.
  func withholds(_ method: String) -> Bool {
    !role.mayCall(method) && catalog.methods.contains(method)
  }

  // MARK: Visibility

  /// Whether the role may know that a source exists, because it may read or write it.
  func mayKnow(_ source: String) -> Bool { role.mayRead(source) || role.mayWrite(source) }

  /// ``mayKnow(_:)`` as a function for services; `nil` if the role may know every source.
  package var mayKnowSource: ((_ source: String) -> Bool)? {
    guard !role.read.allowsAll, !role.write.allowsAll else { return nil }
    return { [role] in role.mayRead($0) || role.mayWrite($0) }
  }

  /// The streams in which the role may record events; `nil` if it may record in all.
  package let mayRecord: ((String) -> Bool)?

  /// Returns the filter, restricted to streams that the role may read.
  package func readable(_ filter: EventFilter) -> EventFilter {
    guard !role.read.allowsAll else { return filter }
    var readable = filter
    readable.mayShow = { [role] stream in role.mayReadEvents(of: stream) }
    return readable
  }

  /// Returns a test for the sources of a pattern that the role may read.
  package func readable(_ pattern: Pattern) -> @Sendable (String) -> Bool {
    guard !role.read.allowsAll else { return { pattern.matches($0) } }
    return { [role] in pattern.matches($0) && role.mayRead($0) }
  }
}

/// The rights of all roles, each made when its first client connects.
package final class RightsTable {
  package let catalog: Catalog
  private var byRole: [Role: Rights] = [:]
  private var count = 0

  /// - Parameter catalog: The filled catalog.
  package init(for catalog: Catalog) {
    self.catalog = catalog
  }

  package subscript(role: Role) -> Rights {
    if let rights = byRole[role] { return rights }
    count += 1
    let rights = Rights(of: role, in: catalog, number: count)
    byRole[role] = rights
    return rights
  }

  /// Makes the rights of all roles again when they are needed, because the catalogue has changed.
  package func renew() { byRole = [:] }

  /// Releases the rights of other roles.
  ///
  /// Clients that use them keep them.
  package func keep(only roles: Set<Role>) {
    byRole = byRole.filter { roles.contains($0.key) }
  }
}
