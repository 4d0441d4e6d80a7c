public import Signals

/// A signal without elements that completes at once or never.
public struct Empty<Element, Error: Swift.Error>: SignalProtocol, Equatable {
  /// Whether the signal completes at once; otherwise it never ends.
  public let completeImmediately: Bool

  /// Creates a signal that completes at once, or never.
  public init(completeImmediately: Bool = true) {
    self.completeImmediately = completeImmediately
  }

  /// Creates the signal with its types as arguments.
  public init(
    completeImmediately: Bool = true, outputType: Element.Type, failureType: Error.Type
  ) {
    self.init(completeImmediately: completeImmediately)
  }

  /// Starts a run that sends its events to the observer.
  public func observe(with observer: @escaping Observer<Element, Error>) -> any Disposable {
    let signal: Signal<Element, Error> = completeImmediately ? .completed() : .never()
    return signal.observe(with: observer)
  }
}
