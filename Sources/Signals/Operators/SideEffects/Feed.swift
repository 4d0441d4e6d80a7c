extension SignalProtocol {
  /// Sends `true` to `listener` when a run starts and `false` when it is over.
  @inlinable
  package func feedActivity<Listener: SubjectProtocol>(
    into listener: Listener
  ) -> Signal<Element, Error> where Listener.Element == Bool {
    handleEvents(
      receiveSubscription: { listener.send(true) }, receiveCancel: { listener.send(false) })
  }

  /// Sends each element to `listener` too.
  @inlinable
  package func feedNext<Listener: SubjectProtocol>(
    into listener: Listener
  ) -> Signal<Element, Error> where Listener.Element == Element {
    handleEvents(receiveOutput: { listener.send($0) })
  }

  /// Sends what `map` makes of each wanted element to `listener` too.
  @inlinable
  package func feedNext<Listener: SubjectProtocol>(
    into listener: Listener, when: @escaping (Element) -> Bool = { _ in true },
    map: @escaping (Element) -> Listener.Element
  ) -> Signal<Element, Error> {
    handleEvents(receiveOutput: { if when($0) { listener.send(map($0)) } })
  }

  /// Sends a failure to `listener` as an element too.
  @inlinable
  package func feedError<Listener: SubjectProtocol>(
    into listener: Listener
  ) -> Signal<Element, Error> where Listener.Element == Error {
    handleEvents(receiveCompletion: {
      if case .failure(let error) = $0 { listener.send(error) }
    })
  }
}
