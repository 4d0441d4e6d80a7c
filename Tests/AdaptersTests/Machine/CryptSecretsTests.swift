import AppAdapters
import EventLoop
import Apps
import Signals
import Testing

/// One at a time: the threads of two instances would share the buffer of crypt(3).
@Suite(.serialized)
struct CryptSecretsTests {
  private let loop: Loop
  private let secrets: CryptSecrets

  init() throws {
    loop = try Loop()
    secrets = CryptSecrets(on: loop)
  }

  /// Runs the loop until the signal emits, and returns the element.
  private func wait<Value>(_ signal: SafeSignal<Value>) -> Value? {
    var result: Value?
    let observation = signal.observeNext { result = $0 }
    while result == nil { loop.runOnce() }
    observation.dispose()
    return result
  }

  private func end() {
    secrets.close()
    loop.run()
  }

  @Test
  func `a secret matches its hash, which is computed on another thread`() throws {
    let new = try #require(wait(secrets.make()) ?? nil)
    let other = try #require(wait(secrets.make()) ?? nil)
    #expect(new.secret != other.secret)
    #expect(secrets.isSecret(new.secret))
    #expect(!new.hash.contains(new.secret))
    var isKnown: Bool?
    let observation = secrets.matches(new.secret, hash: new.hash).observeNext { isKnown = $0 }
    #expect(isKnown == nil, "not before the thread has hashed it")
    observation.dispose()
    #expect(wait(secrets.matches(new.secret, hash: new.hash)) == true)
    #expect(wait(secrets.matches(other.secret, hash: new.hash)) == false)
    end()
  }

  @Test
  func `a text that is not a secret is rejected without hashing`() throws {
    let new = try #require(wait(secrets.make()) ?? nil)
    for text in [
      "", new.secret + "\0", new.secret + "\0more", String(new.secret.dropLast()),
      new.secret.uppercased() + "0", String(repeating: "x", count: 400),
    ] {
      #expect(!secrets.isSecret(text))
      var told: Bool?
      secrets.matches(text, hash: new.hash).observeNext { told = $0 }.dispose()
      #expect(told == false, "at once")
    }
    #expect(wait(secrets.matches(new.secret, hash: "plain")) == false)
    end()
  }

  @Test
  func `a disposed observer receives nothing, also when the thread ends`() {
    secrets.make().observeNext { _ in Issue.record("too late") }.dispose()
    let observation = secrets.make().observeNext { _ in Issue.record("after the end") }
    end()
    observation.dispose()
  }
}
