extension SignalProtocol {
  /// Emits each element, and repeats the newest whenever the other signal emits.
  public func replayLatest<Other: SignalProtocol>(
    when other: Other
  ) -> Signal<Element, Error> where Other.Error == Never {
    combineLatest(with: other.eraseType().prepend(()).castError() as Signal<Void, Error>) {
      element, _ in element
    }
  }
}
