import Connections
import Testing

/// Posts of threads have the name of who is logged in.
struct NamedPostsTests {
  @Test
  func `a post is named after who is logged in, else it has a number`() throws {
    let chat = try ChatBench()
    let (kim, script) = (chat.client("kim"), chat.bench.connect(uid: 1000))
    _ = kim.call(#"{"id":1,"method":"threads.start","params":["Tea"]}"#)
    _ = kim.call(#"{"id":1,"method":"threads.post","params":[1,"Green?"]}"#)
    _ = script.call(#"{"id":1,"method":"threads.post","params":[1,"Black!"]}"#)
    let opened = kim.open("thread", "t", #"{"id":1}"#).first
    #expect(
      opened?.contains(
        #"[{"id":1,"author":"kim","body":"Green?","likes":"0 likes"},"#
          + #"{"id":2,"author":"1000","body":"Black!","likes":"0 likes"}]"#) == true)
    #expect(
      kim.call(#"{"id":2,"method":"get","params":["threads/1/posts"]}"#).contains(
        #"[{"id":1,"author":1000,"name":"kim","body":"Green?","likes":0},"#
          + #"{"id":2,"author":1000,"body":"Black!","likes":0}]"#))
    #expect(
      kim.ask("t", "post", #"{"body":"White."}"#).last?.contains(
        #"{"id":3,"author":"kim","body":"White.","likes":"0 likes"}"#) == true)
    #expect(
      script.call(#"{"id":3,"method":"threads.edit","params":[1,1,"Green."]}"#).contains("Green."))
  }
}
