import Signals
import SignalsDialects

let clock = Clock()
let model = SearchyModel(searchService: SearchService())
let controller = SearchyViewController(
  context: Context(imageProvider: ImageProvider(), scheduler: clock), model: model
) { print("selected \($0.title)") }

controller.loadView()
if let view = controller.view {
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
}

let other = SearchyView(imageProvider: ImageProvider(), scheduler: clock)
SearchyBinding.bindViewInWords(other, model: model) { print("chosen \($0.title)") }
other.type("queen")
clock.advance(by: 0.4)
print("rows: \(other.rows)")
other.select(0)
