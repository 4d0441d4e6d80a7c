extension SignalProtocol {
  /// Runs the scheduler until the signal has ended, and returns all its events.
  ///
  /// Returns without a terminal event if the scheduler has nothing more to run.
  public func waitAndCollectEvents(
    on scheduler: any RunnableScheduler
  ) -> [Signal<Element, Error>.Event] {
    var events: [Signal<Element, Error>.Event] = []
    let run = observe { events.append($0) }
    while events.last?.isTerminal != true, scheduler.runNext() {}
    run.dispose()
    return events
  }

  /// Runs the scheduler until the signal has ended, and returns all its elements.
  public func waitAndCollectElements(on scheduler: any RunnableScheduler) -> [Element] {
    waitAndCollectEvents(on: scheduler).compactMap(\.element)
  }
}
