import Signals
import SignalsTestSupport
import TestSupport
import Testing

/// Random interleavings of send, subscribe and dispose, also from within deliveries, against a
/// simple model.
@Suite(.leavesNothing)
struct RandomInterleavingTests {
  /// An action that is possible at any moment.
  enum Action {
    case send
    case subscribe
    case dispose(Int)
  }

  /// A random sequence of actions, with a limit.
  struct Script {
    var random: Random
    var left = 60

    mutating func actions() -> [Action] {
      guard left > 0 else { return [] }
      let count = min(left, random.below(3))
      left -= count
      return (0..<count).map { _ in
        switch random.below(6) {
        case 0, 1: .send
        case 2, 3: .subscribe
        default: .dispose(random.below(8))
        }
      }
    }
  }

  /// A simple model of a subject: a queue of values, each with the observers that it is for.
  final class Model {
    var log: [String] = []
    var script: Script
    private var observers: [Int] = []
    private var live: Set<Int> = []
    /// Observers that cannot be disposed yet, because `observe` has not returned.
    private var starting: Set<Int> = []
    private var unwanted: Set<Int> = []
    private var queue: [(value: Int, audience: [Int])] = []
    private var isDelivering = false
    private var value = 0
    private let tellsPresent: Bool

    init(_ script: Script, tellsPresent: Bool) {
      self.script = script
      self.tellsPresent = tellsPresent
    }

    func run() {
      for _ in 0..<20 { script.actions().forEach(act) }
    }

    func act(_ action: Action) {
      switch action {
      case .send:
        value += 1
        queue.append((value, observers))
        deliver()
      case .subscribe:
        let id = observers.count
        observers.append(id)
        live.insert(id)
        guard tellsPresent else { return }
        starting.insert(id)
        let isOutermost = !isDelivering
        isDelivering = true
        tell(id, value)
        if isOutermost {
          isDelivering = false
          deliver()
        }
        starting.remove(id)
        if unwanted.contains(id) { live.remove(id) }
      case .dispose(let id):
        if starting.contains(id) { unwanted.insert(id) } else { live.remove(id) }
      }
    }

    private func deliver() {
      guard !isDelivering else { return }
      isDelivering = true
      while !queue.isEmpty {
        let (value, audience) = queue.removeFirst()
        for id in audience where live.contains(id) { tell(id, value) }
      }
      isDelivering = false
    }

    private func tell(_ id: Int, _ value: Int) {
      log.append("\(id) hears \(value)")
      script.actions().forEach(act)
    }
  }

  /// The same actions on a real subject.
  final class Real<Source: SubjectProtocol> where Source.Element == Int, Source.Error == Never {
    var log: [String] = []
    var script: Script
    private let source: Source
    private var runs: [SerialDisposable] = []
    private var value = 0

    init(_ script: Script, _ source: Source) {
      self.script = script
      self.source = source
    }

    func run() {
      for _ in 0..<20 { script.actions().forEach(act) }
      runs.forEach { $0.dispose() }
    }

    func act(_ action: Action) {
      switch action {
      case .send:
        value += 1
        source.send(value)
      case .subscribe:
        let id = runs.count
        let run = SerialDisposable(otherDisposable: nil)
        runs.append(run)
        run.otherDisposable = source.observeNext { [unowned self] value in
          log.append("\(id) hears \(value)")
          script.actions().forEach(act)
        }
      case .dispose(let id): if id < runs.count { runs[id].dispose() }
      }
    }
  }

  @Test(arguments: 0..<8)
  func `a subject delivers to the same observers as the model`(part: Int) {
    for seed in 0..<100 {
      let script = Script(random: Random(part * 1000 + seed))
      let model = Model(script, tellsPresent: false)
      model.run()
      let real = Real(script, PassthroughSubject<Int, Never>())
      real.run()
      #expect(real.log == model.log)
    }
  }

  @Test(arguments: 0..<8)
  func `a property delivers to the same observers as the model`(part: Int) {
    for seed in 0..<100 {
      let script = Script(random: Random(part * 1000 + seed))
      let model = Model(script, tellsPresent: true)
      model.run()
      let real = Real(script, Property(0))
      real.run()
      #expect(real.log == model.log)
    }
  }

  @Test(arguments: 0..<8)
  func `a chain of operators over a subject delivers to the same observers`(part: Int) {
    for seed in 0..<100 {
      let script = Script(random: Random(part * 1000 + seed))
      let model = Model(script, tellsPresent: false)
      model.run()
      let real = Real(script, Chained())
      real.run()
      #expect(real.log == model.log)
    }
  }

  /// A subject with operators between it and its observers.
  struct Chained: SubjectProtocol {
    let subject = PassthroughSubject<Int, Never>()

    func on(_ event: Signal<Int, Never>.Event) {
      subject.on(event)
    }

    func observe(with observer: @escaping Observer<Int, Never>) -> any Disposable {
      subject.map { $0 + 1 }.prefix(while: { _ in true }).map { $0 - 1 }.observe(with: observer)
    }
  }
}
