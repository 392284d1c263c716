//go:build tools

// Package tools names the program that ./install builds, so that its version and those of what it uses are pinned.
package tools

import _ "github.com/summerwind/h2spec/cmd/h2spec"
