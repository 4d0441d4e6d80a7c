extension Signal {
  /// Returns a signal that completes at once.
  @inlinable
  public static func completed() -> Signal {
    Signal { observer in
      observer.complete()
      return NonDisposable.instance
    }
  }

  /// Returns a signal that fails at once.
  @inlinable
  public static func failed(_ error: Error) -> Signal {
    Signal { observer in
      observer.fail(error)
      return NonDisposable.instance
    }
  }

  /// Returns a signal that emits nothing and never ends.
  @inlinable
  public static func never() -> Signal {
    Signal { _ in NonDisposable.instance }
  }
}
