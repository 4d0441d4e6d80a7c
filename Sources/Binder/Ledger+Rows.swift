internal import EventSourcing
internal import Model
public import Signals

// Single rows: their values, and their past.
extension Ledger {
  /// Emits the durable row of a key, now and after each change; `nil` while there is none.
  ///
  /// - Parameters:
  ///   - path: A table that clients see.
  ///   - key: The key of a row.
  public func values<Key: TableKey, Row: TableRow>(
    of path: KeyPath<S, Table<Key, Row>>, _ key: Key
  ) -> SafeSignal<Row?> {
    let source = name(of: path, key)
    return Signal { [self] observer in
      observer.receive(committed[keyPath: path][key])
      return engine.changes(of: source).observeNext { [self] _ in
        observer.receive(committed[keyPath: path][key])
      }
    }
  }

  /// Emits each durable event in the stream of a row, after it was applied to ``committed``.
  ///
  /// Events of other rows cost nothing; see ``record(_:of:_:)``.
  ///
  ///     ledger.events(of: \.items, 7).observeNext { event, context in … }
  public func events<Key: TableKey, Row: TableRow>(
    of path: KeyPath<S, Table<Key, Row>>, _ key: Key
  ) -> SafeSignal<(event: S.Event, context: EventContext)> {
    events(in: stream(of: path, key))
  }

  /// Emits each durable event in a stream, after it was applied to ``committed``.
  ///
  /// Events of other streams cost nothing; see ``record(_:in:)``.
  public func events(in stream: String) -> SafeSignal<(event: S.Event, context: EventContext)> {
    let patterns = engine.committed.patterns
    return engine.events(in: stream).compactMap { happened in
      happened.event.own.map { ($0, EventContext(happened.place, patterns)) }
    }
  }

  /// Emits each durable event of an undo that has set rows back, after that.
  ///
  /// The engine has recorded it, so ``events`` lacks it. ``rows(_:)`` and the watchers of sources know.
  public var restored: SafeSignal<EventContext> {
    let patterns = engine.committed.patterns
    return engine.happened.compactMap { happened in
      happened.event.own == nil ? EventContext(happened.place, patterns) : nil
    }
  }

  /// Emits when ``pending`` has lost events that were recorded before: their command has failed, or
  /// the journal did not take them.
  public var undone: SafeSignal<Void> { engine.undone.toSignal() }

  /// Reads the last events in the stream of a row from the journal, off the thread of the services.
  ///
  /// - Parameters:
  ///   - path: A table that clients see, in whose rows events are recorded; see ``record(_:of:_:)``.
  ///   - key: The key of a row.
  ///   - kinds: The kinds of the events; without any, all of them.
  ///   - count: The most events to read.
  /// - Returns: A signal of one list, the oldest event first. Events that were removed from the journal
  ///   are missing.
  public func history<Key: TableKey, Row: TableRow>(
    of path: KeyPath<S, Table<Key, Row>>, _ key: Key, kinds: String..., last count: Int
  ) -> Signal<[PastEvent<S.Event>], NotRead> {
    let types = kinds.isEmpty ? [service + ".*"] : kinds.map { "\(service).\($0)" }
    let filter = EventFilter(
      streams: [Pattern(stream(of: path, key))].compactMap(\.self),
      types: types.compactMap { Pattern($0, separator: ".") })
    let coder = EventCoder()
    return host.engine.readEvents(before: nil, limit: count, filter)
      .map { page in
        page.entries.compactMap { entry in
          let kind = String(entry.type.drop { $0 != "." }.dropFirst())
          guard let event: S.Event = coder.event(kind, entry.data) else { return nil }
          return PastEvent(seq: entry.seq, version: entry.version, time: entry.time, event: event)
        }
      }
      .mapError { NotRead(reason: "\($0)") }
  }

  /// Returns the name of the stream of a row.
  private func stream<Key: TableKey>(of path: AnyKeyPath, _ key: Key) -> String {
    guard let streams = S.sources[number(of: path)].table.streams else {
      preconditionFailure("the rows at \(path) have no streams")
    }
    return streams.name(key)
  }

  /// Returns the name of the source of a row.
  private func name<Key: TableKey>(of path: AnyKeyPath, _ key: Key) -> String {
    guard let pattern = S.sources[number(of: path)].table.pattern else {
      preconditionFailure("clients do not see \(path)")
    }
    return pattern.name(key)
  }
}

/// An event that was read from the journal.
public struct PastEvent<Event> {
  /// The position in the journal, from 1.
  public let seq: UInt64

  /// The position in the stream, from 1.
  public let version: UInt64

  /// The time in microseconds since 1970.
  public let time: Int64

  /// The event.
  public let event: Event
}

/// The journal could not be read.
public struct NotRead: Error, CustomStringConvertible {
  /// A sentence for people.
  public let reason: String

  /// The reason.
  public var description: String { reason }
}
