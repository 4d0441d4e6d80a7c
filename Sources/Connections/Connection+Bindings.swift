internal import JSON
package import Signals
package import Wire

extension Connection {
  /// Adds a binding that ends with this connection.
  package func add(_ binding: any Disposable, as handle: Handle) {
    bindings[handle] = binding
  }

  /// Returns whether a binding has a handle.
  package func hasBinding(_ handle: Handle) -> Bool { bindings[handle] != nil }

  /// Removes and returns a binding; `nil` if there is none with the handle.
  package func removeBinding(_ handle: Handle) -> (any Disposable)? {
    defer { hub.list(self) }  // the binding may have kept the connection open
    return bindings.removeValue(forKey: handle)
  }

  /// Returns a free handle for a binding: the requested one, or the next number.
  ///
  /// - Throws: ``WireError``: `already_exists` or `limit_reached`.
  package func reserveBinding(_ wish: Handle?) throws(WireError) -> Handle {
    guard bindings.count < limits.bindings else {
      throw .limitReached(.bindings, limits)
    }
    guard let wish else {
      var number = bindings.count + 1
      while bindings[.number(number)] != nil { number += 1 }
      return .number(number)
    }
    guard bindings[wish] == nil else {
      throw WireError(
        .alreadyExists, "there is a binding \(wish.text.text) already",
        ["what": .string("binding"), "id": wish.text.value])
    }
    return wish
  }

  /// Notifies the client, after the answer that created the binding, that the binding failed to set
  /// a value.
  package func fail(binding handle: Handle, _ error: WireError) {
    if let runningBatch {
      return runningBatch.behind.append { [self] in fail(binding: handle, error) }
    }
    emit(after: 0, to: .nobody, isLate: false) { buffer in
      Frame.notification("fail", &buffer) {
        $0.member("binding", handle)
        $0.member("error", error)
      }
    }
  }
}
