package binder

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"time"
)

// A Service is what Client.Provide offers.
//
//	stock := binder.Service{Name: "stock", Doc: "What is in the store.", Methods: binder.Methods{
//		"add": binder.Func("Adds things; returns how many there are.",
//			func(ctx context.Context, call *binder.Call, p Add) (int, error) {
//				var count int
//				err := call.Get(ctx, p.Thing, &count)
//				call.Set(p.Thing, count+p.N)
//				return count + p.N, err
//			}),
//	}}
//
// Calls run one after the other, so a method may read a value, decide, and set it.
type Service struct {
	Name string
	// Doc is a line about the service.
	Doc     string
	Methods Methods
	// Sources has a line about each source below services/NAME/, by name.
	Sources map[string]string
	// Views has the texts of its views by name, SERVICE or SERVICE.NAME; see binder.view(5).
	Views map[string]string
	// Jobs is the most calls that run at a time; 0 is 1.
	Jobs int
	// Timeout is the time in which a call is answered; 0 is 30 s.
	Timeout time.Duration
	// MaxDeliveries is the number of deliveries of a queued call after which it is parked; 0 is 5.
	MaxDeliveries int
}

// Methods are the methods of a service by name.
type Methods map[string]Method

// A Method is a method of a service; Func makes one.
type Method struct {
	// Doc is a line about the method.
	Doc string
	// Params and Result are JSON Schemas, which the daemon checks; nil takes everything.
	Params, Result any
	// Queued says whether a call waits in the journal until it is answered, also while the program
	// is away.
	Queued bool
	// Run returns the result. The caller gets the message of an error.
	Run func(ctx context.Context, call *Call) (any, error)
}

// Func returns a method that decodes its parameters into a struct and returns a value. The schemas
// follow from the types: a field is required unless its tag has "omitempty" or it is a pointer, and
// the tag "doc" describes it. The caller gets the message of an error.
func Func[P, R any](doc string, run func(context.Context, *Call, P) (R, error)) Method {
	return Method{
		Doc:    doc,
		Params: schema(reflect.TypeOf((*P)(nil)).Elem()),
		Result: schema(reflect.TypeOf((*R)(nil)).Elem()),
		Run: func(ctx context.Context, call *Call) (any, error) {
			var params P
			if err := json.Unmarshal(call.Params, &params); err != nil {
				return nil, err
			}
			return run(ctx, call, params)
		},
	}
}

// Queued returns the method with calls that wait in the journal until they are answered. Their
// results have no type for callers.
func Queued(method Method) Method {
	method.Queued = true
	return method
}

// A Call is a call of a method.
//
// The values of a service are the sources services/SERVICE/NAME. What a call sets is recorded in
// the same commit as its answer; if the method fails, nothing is.
type Call struct {
	// Params are the parameters, an object.
	Params json.RawMessage
	// UID and PID are the user and the process of the caller.
	UID, PID int

	provider *Provider
	mu       sync.Mutex
	events   []value
	live     []value
}

// A value is one that a reply sets; without a value the source is removed.
type value struct {
	Source string `json:"source"`
	Value  any    `json:"value,omitempty"`
	// text is the value of an event as JSON; nil if it is removed.
	text json.RawMessage
}

// Get decodes a value as this call and those before have set it, and leaves result alone if there is
// none.
func (c *Call) Get(ctx context.Context, name string, result any) error {
	source := c.provider.service.Name + "/" + name
	c.mu.Lock()
	for _, event := range c.events {
		if event.Source == source {
			c.mu.Unlock()
			if event.text == nil {
				return nil
			}
			return json.Unmarshal(event.text, result)
		}
	}
	c.mu.Unlock()
	text, err := c.provider.get(ctx, "services/"+source)
	if err != nil || text == nil {
		return err
	}
	return json.Unmarshal(text, result)
}

// Set sets a value in the journal. A value that is not JSON makes the call fail.
func (c *Call) Set(name string, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		c.put(name, v, nil) // The reply fails too, and says why.
		return
	}
	c.put(name, json.RawMessage(text), text)
}

// Remove removes a value.
func (c *Call) Remove(name string) { c.put(name, nil, nil) }

func (c *Call) put(name string, v any, text json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	entry := value{c.provider.service.Name + "/" + name, v, text}
	for i := range c.events {
		if c.events[i].Source == entry.Source {
			c.events[i] = entry
			return
		}
	}
	c.events = append(c.events, entry)
}

// Publish shows a value as live/SERVICE/NAME, which the journal does not keep; nil removes it.
func (c *Call) Publish(name string, v any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live = append(c.live, value{Source: c.provider.service.Name + "/" + name, Value: v})
}

// reply returns the members of the reply.
func (c *Call) reply(result any) Params {
	c.mu.Lock()
	defer c.mu.Unlock()
	reply := Params{"value": result}
	if len(c.events) > 0 {
		reply["events"] = c.events
	}
	if len(c.live) > 0 {
		reply["publish"] = c.live
	}
	return reply
}

// declaration returns the parameters of provide.
func (s *Service) declaration() Params {
	methods := Params{}
	for name, method := range s.Methods {
		declared := Params{"doc": method.Doc}
		if method.Params != nil {
			declared["params"] = method.Params
		}
		if method.Result != nil && !method.Queued {
			declared["result"] = method.Result
		}
		if method.Queued {
			declared["delivery"] = "queued"
		}
		methods[name] = declared
	}
	declaration := Params{"service": s.Name, "doc": s.Doc, "methods": methods}
	if s.Sources != nil {
		declaration["sources"] = s.Sources
	}
	if s.Views != nil {
		declaration["views"] = s.Views
	}
	declaration["call_ms"] = s.timeout().Milliseconds()
	if s.MaxDeliveries > 0 {
		declaration["max_deliveries"] = s.MaxDeliveries
	}
	return declaration
}

func (s *Service) timeout() time.Duration {
	if s.Timeout == 0 {
		return 30 * time.Second
	}
	return s.Timeout
}

// schema returns the JSON Schema of a type; nil for any value.
func schema(of reflect.Type) any {
	if of == reflect.TypeOf(json.RawMessage{}) {
		return nil
	}
	plain := map[reflect.Kind]string{
		reflect.String: "string", reflect.Bool: "boolean", reflect.Map: "object",
		reflect.Float32: "number", reflect.Float64: "number",
		reflect.Int: "integer", reflect.Int8: "integer", reflect.Int16: "integer",
		reflect.Int32: "integer", reflect.Int64: "integer", reflect.Uint: "integer",
		reflect.Uint8: "integer", reflect.Uint16: "integer", reflect.Uint32: "integer",
		reflect.Uint64: "integer",
	}
	switch of.Kind() {
	case reflect.Pointer:
		return schema(of.Elem())
	case reflect.Slice, reflect.Array:
		if of.Elem().Kind() == reflect.Uint8 {
			return Params{"type": "string"} // base64
		}
		if items := schema(of.Elem()); items != nil {
			return Params{"type": "array", "items": items}
		}
		return Params{"type": "array"}
	case reflect.Struct:
		return object(of)
	}
	if name := plain[of.Kind()]; name != "" {
		return Params{"type": name}
	}
	return nil
}

func object(of reflect.Type) any {
	properties, required := members{}, []string{}
	for i := 0; i < of.NumField(); i++ {
		field := of.Field(i)
		tag := strings.Split(field.Tag.Get("json"), ",")
		if !field.IsExported() || tag[0] == "-" {
			continue
		}
		name := tag[0]
		if name == "" {
			name = strings.ToLower(field.Name[:1]) + field.Name[1:]
		}
		property := Params{}
		if known, ok := schema(field.Type).(Params); ok {
			for word, value := range known {
				property[word] = value
			}
		}
		if doc := field.Tag.Get("doc"); doc != "" {
			property["description"] = doc
		}
		properties = append(properties, member{name, property})
		if field.Type.Kind() != reflect.Pointer && !contains(tag[1:], "omitempty") {
			required = append(required, name)
		}
	}
	return Params{
		"type": "object", "properties": properties, "required": required,
		"additionalProperties": false,
	}
}

// members are those of an object in their order: callers may give parameters by position.
type members []member

type member struct {
	name   string
	schema Params
}

// MarshalJSON writes the members in their order.
func (m members) MarshalJSON() ([]byte, error) {
	text := []byte("{")
	for i, each := range m {
		name, err := json.Marshal(each.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(each.schema)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(append(text, name...), ':'), value...)
	}
	return append(text, '}'), nil
}

func contains(words []string, word string) bool {
	for _, each := range words {
		if each == word {
			return true
		}
	}
	return false
}
