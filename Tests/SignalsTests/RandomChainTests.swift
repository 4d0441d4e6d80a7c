import Signals
import SignalsTestSupport
import TestSupport
import Testing

/// Random chains of operators against a model of lists.
@Suite(.leavesNothing)
struct RandomChainTests {
  typealias Numbers = Signal<Int, Broken>

  /// The end of a list.
  enum End {
    case completed, failed, open
  }

  /// The elements that a signal emits at once, and its end.
  struct List: Equatable {
    var elements: [Int]
    var end: End

    init(_ elements: [Int], _ end: End) {
      self.elements = elements
      self.end = end
    }

    init(_ signal: Numbers) {
      let events = signal.recorded()
      elements = events.compactMap(\.element)
      end =
        switch events.last {
        case .completed: .completed
        case .failed: .failed
        default: .open
        }
    }
  }

  /// An operator, and the same operation on a list.
  struct Step {
    let name: String
    let apply: (Numbers) -> Numbers
    let model: (List) -> List
  }

  static func step(_ random: inout Random) -> Step {
    let n = random.below(4)
    func elements(_ change: @escaping ([Int]) -> [Int]) -> (List) -> List {
      { List(change($0.elements), $0.end) }
    }
    /// For operators that emit only at the end.
    func atEnd(_ change: @escaping ([Int]) -> [Int]) -> (List) -> List {
      { List($0.end == .completed ? change($0.elements) : [], $0.end) }
    }
    let steps: [Step] = [
      Step(name: "map", apply: { $0.map { $0 &+ n } }, model: elements { $0.map { $0 &+ n } }),
      Step(
        name: "filter", apply: { $0.filter { $0 % 2 == 0 } },
        model: elements { $0.filter { $0 % 2 == 0 } }),
      Step(
        name: "compactMap", apply: { $0.compactMap { $0 % 3 == 0 ? nil : $0 &* 2 } },
        model: elements { $0.compactMap { $0 % 3 == 0 ? nil : $0 &* 2 } }),
      Step(
        name: "dropFirst \(n)", apply: { $0.dropFirst(n) },
        model: elements { Array($0.dropFirst(n)) }),
      Step(
        name: "dropLast \(n)", apply: { $0.dropLast(n) }, model: elements { Array($0.dropLast(n)) }),
      Step(
        name: "prefix \(n)", apply: { $0.prefix(maxLength: n) },
        model: { $0.elements.count >= n ? List(Array($0.elements.prefix(n)), .completed) : $0 }),
      Step(
        name: "prefix while", apply: { $0.prefix(while: { $0 < 5 }) },
        model: {
          guard let i = $0.elements.firstIndex(where: { $0 >= 5 }) else { return $0 }
          return List(Array($0.elements[..<i]), .completed)
        }),
      Step(
        name: "suffix \(n)", apply: { $0.suffix(maxLength: n) },
        model: atEnd { Array($0.suffix(n)) }),
      Step(
        name: "scan", apply: { $0.scan(n, &+) },
        model: elements { $0.reduce(into: [n]) { $0.append($0[$0.count - 1] &+ $1) } }),
      Step(
        name: "reduce", apply: { $0.reduce(n, &+) }, model: atEnd { [$0.reduce(n, &+)] }),
      Step(
        name: "collect", apply: { $0.collect().map(\.count) }, model: atEnd { [$0.count] }),
      Step(
        name: "buffer \(n + 1)", apply: { $0.buffer(size: n + 1).map { $0.reduce(0, &+) } },
        model: elements { list in
          (0..<list.count / (n + 1)).map { i in
            list[(i * (n + 1))..<((i + 1) * (n + 1))].reduce(0, &+)
          }
        }),
      Step(
        name: "removeDuplicates", apply: { $0.removeDuplicates() },
        model: elements { $0.reduce(into: []) { if $0.last != $1 { $0.append($1) } } }),
      Step(
        name: "pairwise", apply: { $0.pairwise().map { $0.0 &- $0.1 } },
        model: elements { list in zip(list, list.dropFirst()).map { $0 &- $1 } }),
      Step(name: "prepend", apply: { $0.prepend(n) }, model: elements { [n] + $0 }),
      Step(
        name: "append", apply: { $0.append(n) },
        model: { List($0.elements + ($0.end == .completed ? [n] : []), $0.end) }),
      Step(
        name: "append signal", apply: { $0.append(Numbers(sequence: [n, n])) },
        model: { List($0.elements + ($0.end == .completed ? [n, n] : []), $0.end) }),
      Step(
        name: "replaceEmpty", apply: { $0.replaceEmpty(with: n) },
        model: { $0.elements.isEmpty && $0.end == .completed ? List([n], .completed) : $0 }),
      Step(
        name: "flatMapError", apply: { $0.flatMapError { _ in Numbers(sequence: [n]) } },
        model: { $0.end == .failed ? List($0.elements + [n], .completed) : $0 }),
      Step(
        name: "replaceError", apply: { $0.replaceError(with: n).castError() },
        model: { $0.end == .failed ? List($0.elements + [n], .completed) : $0 }),
      Step(
        name: "suppressError", apply: { $0.suppressError().castError() },
        model: { $0.end == .failed ? List($0.elements, .completed) : $0 }),
      Step(
        name: "retry \(n)", apply: { $0.retry(n) },
        model: { list in
          guard list.end == .failed else { return list }
          return List((0...n).flatMap { _ in list.elements }, .failed)
        }),
      Step(
        name: "flatMap", apply: { $0.flatMap { [$0, n] } },
        model: elements { $0.flatMap { [$0, n] } }),
      Step(
        name: "flatMapConcat", apply: { $0.flatMapConcat { Numbers(sequence: [$0, n]) } },
        model: elements { $0.flatMap { [$0, n] } }),
      Step(
        name: "flatMapMerge", apply: { $0.flatMapMerge { Numbers(sequence: [$0, n]) } },
        model: elements { $0.flatMap { [$0, n] } }),
      Step(
        name: "flatMapLatest", apply: { $0.flatMapLatest { Numbers(sequence: [$0, n]) } },
        model: elements { $0.flatMap { [$0, n] } }),
      Step(
        name: "materialize", apply: { $0.materialize().dematerialize() as Numbers },
        model: { $0 }),
      Step(name: "results", apply: { $0.mapToResult().getValues() }, model: { $0 }),
      Step(
        name: "handleEvents", apply: { $0.handleEvents(receiveOutput: { _ in }) }, model: { $0 }),
      Step(
        name: "zip", apply: { $0.zip(with: Numbers(sequence: 0..<n), combine: &+) },
        model: { list in
          // The other signal completes at once, after this one has emitted its first elements.
          let pairs = zip(list.elements, 0..<n).map { $0 &+ $1 }
          if list.end == .failed { return List([], .failed) }
          if list.end == .open, list.elements.count < n { return List(pairs, .open) }
          return List(pairs, .completed)
        }),
      Step(
        name: "merge", apply: { $0.merge(with: Numbers(sequence: [n])) },
        model: { $0.end == .failed ? $0 : List($0.elements + [n], $0.end) }),
      Step(
        name: "combineLatest",
        apply: { $0.combineLatest(with: Numbers(sequence: [n, n + 1]), combine: &+) },
        model: { list in
          if list.end == .failed { return List([], .failed) }
          guard let last = list.elements.last else { return List([], list.end) }
          return List([last &+ n, last &+ (n + 1)], list.end)
        }),
      Step(
        name: "with latest", apply: { $0.with(latestFrom: Numbers(sequence: [n]), combine: &+) },
        model: elements { $0.map { $0 &+ n } }),
    ]
    return steps[random.below(steps.count)]
  }

  @Test(arguments: 0..<8)
  func `a chain of operators gives the same for a signal as for a list`(part: Int) {
    var random = Random(part)
    for _ in 0..<500 {
      let end = [End.completed, .completed, .failed, .open][random.below(4)]
      let numbers = (0..<random.below(8)).map { _ in random.below(10) }
      var list = List(numbers, end)
      var signal = Numbers { observer in
        for number in numbers { observer.receive(number) }
        switch end {
        case .completed: observer.complete()
        case .failed: observer.fail(Broken())
        case .open: break
        }
        return NonDisposable.instance
      }
      var names: [String] = []
      for _ in 0..<random.below(7) + 1 {
        let step = Self.step(&random)
        names.append(step.name)
        signal = step.apply(signal)
        list = step.model(list)
      }
      let comment: Comment = "\(numbers) \(end) \(names)"
      #expect(List(signal) == list, comment)
      // All state belongs to the run: a second observer receives the same.
      #expect(List(signal) == list, comment)
    }
  }
}
