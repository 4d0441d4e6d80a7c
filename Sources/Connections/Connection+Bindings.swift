internal import JSON
package import Signals
package import Wire

extension Connection {
  /// Keeps a binding that ends with this client.
  package func add(_ binding: any Disposable, as handle: Handle) {
    bindings[handle] = binding
  }

  /// Whether there is a binding of that name.
  package func hasBinding(_ handle: Handle) -> Bool { bindings[handle] != nil }

  /// Lets a binding go; `nil` when there is none of that name.
  package func removeBinding(_ handle: Handle) -> (any Disposable)? {
    defer { hub.list(self) }  // it may have been all that kept the connection
    return bindings.removeValue(forKey: handle)
  }

  /// A handle for a binding that is free: the wish, or the next number.
  ///
  /// - Throws: ``WireError``: `already_exists`, or `limit_reached`.
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

  /// Tells that a binding could not pass a value on, behind the answer that has made it.
  package func fail(binding handle: Handle, _ error: WireError) {
    if let runningBatch {
      return runningBatch.behind.append { [self] in fail(binding: handle, error) }
    }
    emit(after: 0, to: .nobody, isLate: false) { buffer in
      Frame.beginNotification("fail", &buffer)
      buffer.append(#""binding":"#)
      buffer.append(handle.text.text)
      buffer.append(#","error":"#)
      error.write(to: &buffer)
      Frame.endParams(&buffer)
    }
  }
}
