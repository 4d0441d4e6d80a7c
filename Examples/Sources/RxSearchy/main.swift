import RxDialect

let model = SearchyModel(searchService: SearchService())
let controller = SearchyViewController(
  context: Context(imageProvider: ImageProvider()), model: model
) { print("selected \($0.title)") }
let clock = MainScheduler.instance

controller.loadView()
if let view = controller.view as? SearchyView {
  view.type("  abb")
  clock.advance(by: 0.2)
  view.type("  abba")
  print("rows: \(view.rows)")
  clock.advance(by: 0.4)
  print("rows: \(view.rows)")
  view.select(1)
  view.type("offline")
  clock.advance(by: 0.4)
  print("rows: \(view.rows)")
  // `catchErrorJustReturn` behind `flatMapLatest` ends the search at the first error.
  view.type("abba")
  clock.advance(by: 0.4)
  print("after the error: \(view.rows)")
}

let other = SearchyView(imageProvider: ImageProvider())
SearchyBinding.bindViewInWords(other, model: model) { print("chosen \($0.title)") }
other.type("queen")
clock.advance(by: 0.4)
print("rows: \(other.rows)")
other.select(0)
