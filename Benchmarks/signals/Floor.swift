/// The floor: a Swift array of closures, called in a loop.
final class Floor {
  private(set) var value = 0
  var observers: [(Int) -> Void] = []

  @inline(never)
  func send(_ element: Int) {
    for observer in observers { observer(element) }
  }

  @inline(never)
  func set(_ element: Int) {
    value = element
    for observer in observers { observer(element) }
  }
}

// MARK: The minimal closure of each operator
@inline(never)
func map(_ next: @escaping (Int) -> Void, _ transform: @escaping (Int) -> Int) -> (Int) -> Void {
  { next(transform($0)) }
}

@inline(never)
func filter(_ next: @escaping (Int) -> Void, _ test: @escaping (Int) -> Bool) -> (Int) -> Void {
  { if test($0) { next($0) } }
}

/// Returns one closure for each side; they share the newest elements.
@inline(never)
func combineLatest(
  _ next: @escaping (Int) -> Void, _ combine: @escaping (Int, Int) -> Int
) -> ((Int) -> Void, (Int) -> Void) {
  var a: Int?
  var b: Int?
  return (
    {
      a = $0; if let b { next(combine($0, b)) }
    },
    {
      b = $0; if let a { next(combine(a, $0)) }
    }
  )
}
