extension SignalProtocol {
  /// Drops elements while the last element of the other signal is `false`; starts unpaused.
  @inlinable
  public func pausable<Other: SignalProtocol>(
    by other: Other
  ) -> Signal<Element, Error> where Other.Element == Bool {
    Signal { observer in
      var isOpen = true
      let runs = CompositeDisposable()
      runs.add(disposable: other.observeNext { isOpen = $0 })
      runs.add(
        disposable: observe { event in
          if isOpen || event.isTerminal { observer.on(event) }
        })
      return runs
    }
  }
}
