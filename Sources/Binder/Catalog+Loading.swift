internal import API
internal import Configuration
internal import EventSourcing
internal import JSON
internal import Model
public import Signals

extension Catalog {
  /// Offers values that are loaded while clients watch them, for example from the web, as sources.
  ///
  /// Clients get a value together with its state: `loading`, `loaded`, `reloading` or `failed`, with the
  /// error and what is known. The values are not journaled.
  ///
  ///     catalog.loaded(
  ///       "feeds/*", "A feed, fetched while somebody watches.",
  ///       keys: { Array(feeds.ledger.committed.feeds.keys) }, known: feeds.known(of:),
  ///       state: feeds.state(of:), states: feeds.states(of:), statesWhere: feeds.states(where:))
  ///
  /// - Parameters:
  ///   - name: The names of the sources, with a `*` for the key.
  ///   - doc: A line for people.
  ///   - keys: Returns the keys of all values.
  ///   - known: Returns what clients get of a value while it is loaded again, and after a failure; `nil`
  ///     for nothing.
  ///   - state: Returns the state of a value, watched or not; `nil` if there is no such value.
  ///   - states: Emits the state of a value, now and after each change, and loads it while it is observed.
  ///   - statesWhere: The same for all values, now and later, with keys that meet a condition. It emits
  ///     `nil` for a value that exists no more.
  public func loaded<Key: TableKey, Value: Codable, Failure: Rejecting>(
    _ name: String, _ doc: String, keys: @escaping () -> [Key],
    known: @escaping (Key) -> Value?,
    state: @escaping (Key) -> ObservedLoadingState<Value, Failure>?,
    states: @escaping (Key) -> SafeSignal<ObservedLoadingState<Value, Failure>?>,
    statesWhere:
      @escaping (_ isWanted: @escaping (Key) -> Bool) -> SafeSignal<
        (key: Key, state: ObservedLoadingState<Value, Failure>?)
      >, file: StaticString = #fileID, line: UInt = #line
  ) {
    let place = SourcePlace(file, line)
    guard claim(name, "source", "/", place), let service else { return }
    let pattern = SourcePattern(name)
    if let rule = pattern.fault(of: service, hasKey: true) {
      return host.addMistake("'\(name)' is no name of sources of '\(service)': \(rule)", place)
    }
    guard !isRow(pattern.name("1")) else {
      return host.addMistake("a row of '\(service)' may have the name '\(name)'", place)
    }
    let encoder = JSONEncoder()
    func change(
      _ key: Key, _ state: ObservedLoadingState<Value, Failure>?
    ) -> SourceChange {
      SourceChange(
        source: pattern.name(key), seq: 0,
        value: state.map { $0.forClients.text(before: known(key), encoder) })
    }
    add(
      LoadingSources(
        description: .init(name, doc, Shape(of: Value.self), kind: .loading),
        exists: { source in pattern.key(of: source).flatMap(state) != nil },
        value: { source in
          guard let key: Key = pattern.key(of: source) else { return nil }
          return change(key, state(key)).value
        },
        names: { keys().map(pattern.name) },
        changes: { source in
          guard let key: Key = pattern.key(of: source) else { return .never() }
          return states(key).map { change(key, $0) }
        },
        changesWhere: { isWanted in
          statesWhere { isWanted(pattern.name($0)) }.map { change($0.key, $0.state) }
        }), of: service, place)
  }
}

extension ObservedLoadingState where LoadingError: Rejecting {
  /// The state with the error as clients get it.
  var forClients: ObservedLoadingState<LoadingValue, ServiceRejection> {
    switch self {
    case .loading: .loading
    case .reloading: .reloading
    case .loaded(let value): .loaded(value)
    case .failed(let error): .failed(ServiceRejection(error))
    }
  }
}
