//go:build tools

// Package tools imports the programs that ./install builds, so that go.mod pins them and their dependencies.
package tools

import (
	_ "github.com/letsencrypt/pebble/v2/cmd/pebble"
	_ "github.com/letsencrypt/pebble/v2/cmd/pebble-challtestsrv"
)
