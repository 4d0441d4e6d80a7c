import BinderClient
import Console
import JSON

let servicesSyntax = Syntax(
  "services", "Lists the services of the daemon.",
  details: "'bindctl describe SERVICE' describes one.")

var servicesCommand: Command {
  Command(servicesSyntax) { context in
    let answer = try context.client.call("describe").object
    guard case .object(let services)? = answer["services"] else { return .done }
    var table = Table(["SERVICE", "DESCRIPTION"])
    for service in services.members {
      if context.output.form == .human {
        table.add([service.name, service.value.bare])
      } else {
        context.output.result(
          ["service": .string(service.name), "doc": service.value], bare: .string(service.name),
          human: "")
      }
    }
    if context.output.form == .human { context.output.table(table) }
    return .done
  }
}
