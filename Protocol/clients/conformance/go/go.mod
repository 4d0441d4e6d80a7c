module driver

go 1.19

require binder v0.0.0

replace binder => ../../go
