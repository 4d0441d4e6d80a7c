import Signals
import TestSupport
import Testing

/// Random interleavings of send, subscribe and dispose, also from within deliveries, against a
/// model that says in the simplest words who hears what.
@Suite(.leavesNothing)
struct RandomInterleavingTests {
  /// What can be done at any moment.
  enum Action {
    case send
    case subscribe
    case dispose(Int)
  }

  /// What is done, by chance, and how often at most.
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

  /// The subject in the simplest words: a queue of values, each for those who were there.
  final class Model {
    var log: [String] = []
    var script: Script
    private var observers: [Int] = []
    private var live: Set<Int> = []
    /// Nobody can dispose them yet: `observe` has not returned.
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

  /// The same with a subject.
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
  func `a subject tells whom the model tells`(part: Int) {
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
  func `a property tells whom the model tells`(part: Int) {
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
  func `so does a chain of operators over a subject`(part: Int) {
    for seed in 0..<100 {
      let script = Script(random: Random(part * 1000 + seed))
      let model = Model(script, tellsPresent: false)
      model.run()
      let real = Real(script, Chained())
      real.run()
      #expect(real.log == model.log)
    }
  }

  /// A subject that is observed through operators.
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
