import BinderClient
import Console
import JSON
import Wire

let versionSyntax = Syntax("version", "Shows the versions of bindctl and of the daemon.")

var versionCommand: Command {
  Command(versionSyntax) { context in
    var document: JSONObject = ["bindctl": .string(Release.version)]
    var text = "bindctl \(Release.version)"
    do throws(ClientError) {
      let connection = try context.client.connected(until: Deadline(inMilliseconds: 2000))
      document["binderd"] = .string(connection.greeting.server.version)
      text += "\nbinderd \(connection.greeting.server.version), at \(connection.path)"
    } catch {
      // Without a daemon only this version is shown.
    }
    context.output.result(document, bare: .string(Release.version), human: text)
    return .done
  }
}
