import Signals

final class Sum {
  var value = 0
}

/// The rows of the table.
struct Works {
  let sum = Sum()
  let bag = DisposeBag()

  func floor(_ observers: Int) -> Floor {
    let floor = Floor()
    for _ in 0..<observers { floor.observers.append { [sum] in sum.value &+= $0 } }
    return floor
  }

  func subjectRow(_ observers: Int, limit: Double) -> Row {
    let floor = floor(observers)
    let subject = PassthroughSubject<Int, Never>()
    for _ in 0..<observers {
      subject.observeNext { [sum] in sum.value &+= $0 }.dispose(in: bag)
    }
    return Row(
      name: "PassthroughSubject -> \(observers)", limit: limit,
      floor: { for i in 0..<$0 { floor.send(i) } },
      ours: { for i in 0..<$0 { subject.send(i) } })
  }

  func propertyRow(_ observers: Int, limit: Double) -> Row {
    let floor = floor(observers)
    let property = Property(0)
    for _ in 0..<observers {
      property.observeNext { [sum] in sum.value &+= $0 }.dispose(in: bag)
    }
    return Row(
      name: "Property set -> \(observers)", limit: limit,
      floor: { for i in 0..<$0 { floor.set(i) } },
      ours: { for i in 0..<$0 { property.value = i } })
  }

  func chainRow() -> Row {
    let floor = Floor()
    floor.observers.append(
      map(filter(map({ [sum] in sum.value &+= $0 }, { $0 &+ 1 }), { $0 & 1 == 0 }), { $0 &* 2 }))
    let subject = PassthroughSubject<Int, Never>()
    subject.map { $0 &* 2 }.filter { $0 & 1 == 0 }.map { $0 &+ 1 }
      .observeNext { [sum] in sum.value &+= $0 }.dispose(in: bag)
    return Row(
      name: "map.filter.map -> 1", limit: 2,
      floor: { for i in 0..<$0 { floor.send(i) } },
      ours: { for i in 0..<$0 { subject.send(i) } })
  }

  func combineLatestRow() -> Row {
    let (a, b) = (Floor(), Floor())
    let (first, second) = combineLatest({ [sum] in sum.value &+= $0 }, &+)
    a.observers.append(first)
    b.observers.append(second)
    let (left, right) = (PassthroughSubject<Int, Never>(), PassthroughSubject<Int, Never>())
    left.combineLatest(with: right, combine: &+).observeNext { [sum] in sum.value &+= $0 }
      .dispose(in: bag)
    right.send(0)
    return Row(
      name: "combineLatest of two", limit: 2,
      floor: {
        for i in 0..<$0 / 2 {
          a.send(i)
          b.send(i)
        }
      },
      ours: {
        for i in 0..<$0 / 2 {
          left.send(i)
          right.send(i)
        }
      })
  }

  func derivedRow() -> Row {
    let (a, b) = (Floor(), Floor())
    let (first, second) = combineLatest({ [sum] in sum.value &+= $0 }, &+)
    a.observers.append(first)
    b.observers.append(second)
    let (left, right) = (Property(0), Property(0))
    left.combineLatest(with: right, combine: &+).observeNext { [sum] in sum.value &+= $0 }
      .dispose(in: bag)
    return Row(
      name: "combineLatest of two properties", limit: nil,
      floor: {
        for i in 0..<$0 / 2 {
          a.set(i)
          b.set(i)
        }
      },
      ours: {
        for i in 0..<$0 / 2 {
          left.value = i
          right.value = i
        }
      })
  }
}
