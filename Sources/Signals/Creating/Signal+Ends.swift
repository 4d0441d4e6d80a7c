extension Signal {
  /// Completes at once.
  @inlinable
  package static func completed() -> Signal {
    Signal { observer in
      observer.complete()
      return NonDisposable.instance
    }
  }

  /// Fails at once.
  @inlinable
  package static func failed(_ error: Error) -> Signal {
    Signal { observer in
      observer.fail(error)
      return NonDisposable.instance
    }
  }

  /// Emits nothing and never ends.
  @inlinable
  package static func never() -> Signal {
    Signal { _ in NonDisposable.instance }
  }
}
