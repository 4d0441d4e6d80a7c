import Signals

let session = URLSession()
let mainScheduler = MainScheduler()
let controller = ViewController.make(
  service: Service(api: API(session: session)), on: mainScheduler)

let window = UIWindow()
window.rootViewController = controller
window.makeKeyAndVisible()

print("requests: \(session.requests), rows: \(controller.tableView.rows)")
session.answer("1 Swift\n2 Unix")
print("podcasts: \(controller.feed.value.podcasts.count), rows: \(controller.tableView.rows)")
mainScheduler.run()
print("rows: \(controller.tableView.rows)")

controller.viewDidAppear(true)
session.answer(nil)
mainScheduler.run()
print("requests: \(session.requests), rows: \(controller.tableView.rows)")
