/// Who a client is, and what there is for it: what a binder is given beside the client.
package struct Session {
  package let caller: Caller

  /// The services.
  package let host: ServiceHost

  package init(caller: Caller, host: ServiceHost) {
    self.caller = caller
    self.host = host
  }
}
