import Signals

// Properties, derived properties, a two-way binding, and an observable list.

let celsius = Property(20.0)
let fahrenheit = celsius.map { $0 * 9 / 5 + 32 }
let log = MutableObservableArray<String>([])
let bag = DisposeBag()

fahrenheit.observeNext { log.append("\($0) °F") }.dispose(in: bag)
celsius.value = 25
print(log.collection.joined(separator: ", "))

let (left, right) = (Property("a"), Property("b"))
left.bidirectionalBind(to: right).dispose(in: bag)
right.value = "c"
print("\(left.value) \(right.value)")

log.observeNext { print("\($0.collection.count) lines") }.dispose(in: bag)
celsius.value = 30
bag.dispose()
celsius.value = 35
print("\(log.collection.count) lines at the end")
