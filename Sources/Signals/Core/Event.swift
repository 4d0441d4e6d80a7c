extension Signal {
  /// An event of a run.
  public enum Event {
    case next(Element)
    case failed(Error)
    case completed
  }
}

extension Signal.Event {
  /// Whether the event carries an element.
  @inlinable
  public var isNext: Bool {
    if case .next = self { true } else { false }
  }

  /// Whether the event is a failure.
  @inlinable
  public var isFailed: Bool {
    if case .failed = self { true } else { false }
  }

  /// Whether the event is a completion.
  @inlinable
  public var isCompleted: Bool {
    if case .completed = self { true } else { false }
  }

  /// Whether the event ends the run.
  @inlinable
  public var isTerminal: Bool {
    if case .next = self { false } else { true }
  }

  /// The element of a `next` event, otherwise `nil`.
  @inlinable
  public var element: Element? {
    if case .next(let element) = self { element } else { nil }
  }

  /// The error of a `failed` event, otherwise `nil`.
  @inlinable
  public var error: Error? {
    if case .failed(let error) = self { error } else { nil }
  }
}

extension Signal.Event: Equatable where Element: Equatable, Error: Equatable {}
