import JSON
import RxDialect

let application = AppDelegate()
application.launch()
let session = URLSession.shared

if let controller = application.window?.rootViewController as? ViewController {
  // The variable emits once before the view has appeared, so there are two requests.
  print("requests: \(session.requests), rows: \(controller.view.rows)")
  let podcasts = #"{"podcasts":[{"id":1,"title":"Swift"},{"id":2,"title":"Unix"}]}"#
  session.answer(try JSONText(parsing: podcasts))
  print("podcasts: \(controller.feed.value.podcasts.count), rows: \(controller.view.rows)")
  MainScheduler.instance.run()
  print("rows: \(controller.view.rows)")

  // An error leaves the rows; the subscribers of the document have no closure for it.
  controller.viewDidAppear(true)
  session.answer(try JSONText(parsing: "[]"))
  MainScheduler.instance.run()
  controller.viewDidAppear(true)
  session.answer(nil)
  MainScheduler.instance.run()
  print("requests: \(session.requests), rows: \(controller.view.rows)")
}
