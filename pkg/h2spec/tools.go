//go:build tools

// Package tools imports the program that ./install builds, so that go.mod pins it and its dependencies.
package tools

import _ "github.com/summerwind/h2spec/cmd/h2spec"
