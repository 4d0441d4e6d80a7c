extension SignalProtocol {
  /// Sends `true` to `listener` when a run starts, and `false` when it ends.
  @inlinable
  public func feedActivity<Listener: SubjectProtocol>(
    into listener: Listener
  ) -> Signal<Element, Error> where Listener.Element == Bool {
    handleEvents(
      receiveSubscription: { listener.send(true) }, receiveCancel: { listener.send(false) })
  }

  /// Also sends each element to `listener`.
  @inlinable
  public func feedNext<Listener: SubjectProtocol>(
    into listener: Listener
  ) -> Signal<Element, Error> where Listener.Element == Element {
    handleEvents(receiveOutput: { listener.send($0) })
  }

  /// Also sends `map` of each element to `listener`, if `when` returns `true` for the element.
  @inlinable
  public func feedNext<Listener: SubjectProtocol>(
    into listener: Listener, when: @escaping (Element) -> Bool = { _ in true },
    map: @escaping (Element) -> Listener.Element
  ) -> Signal<Element, Error> {
    handleEvents(receiveOutput: { if when($0) { listener.send(map($0)) } })
  }

  /// Also sends the error of a failure to `listener`, as an element.
  @inlinable
  public func feedError<Listener: SubjectProtocol>(
    into listener: Listener
  ) -> Signal<Element, Error> where Listener.Element == Error {
    handleEvents(receiveCompletion: {
      if case .failure(let error) = $0 { listener.send(error) }
    })
  }
}
