module binder

go 1.19
