extension SignalProtocol {
  /// Prints the events of each run, prefixed with the title or the location of this call.
  public func debug(
    _ title: String? = nil, file: String = #fileID, function: String = #function, line: Int = #line
  ) -> Signal<Element, Error> {
    let name = "[\(title ?? "\(file):\(function):\(line)")]"
    return handleEvents(
      receiveSubscription: { print("\(name) started") },
      receiveOutput: { print("\(name) next(\($0))") },
      receiveCompletion: {
        switch $0 {
        case .finished: print("\(name) finished")
        case .failure(let error): print("\(name) failed: \(error)")
        }
      },
      receiveCancel: { print("\(name) disposed") })
  }

  /// Traps, so that a debugger stops, when one of the closures returns `true`.
  public func breakpoint(
    receiveSubscription: (() -> Bool)? = nil,
    receiveOutput: ((Element) -> Bool)? = nil,
    receiveCompletion: ((Subscribers.Completion<Error>) -> Bool)? = nil
  ) -> Signal<Element, Error> {
    handleEvents(
      receiveSubscription: { precondition(receiveSubscription?() != true, "breakpoint") },
      receiveOutput: { precondition(receiveOutput?($0) != true, "breakpoint") },
      receiveCompletion: { precondition(receiveCompletion?($0) != true, "breakpoint") })
  }

  /// Traps, so that a debugger stops, when the signal fails.
  public func breakpointOnError() -> Signal<Element, Error> {
    breakpoint(receiveCompletion: { if case .failure = $0 { true } else { false } })
  }
}
