// Says what is wrong with the deployment files, with the real tools' own code: kustomize builds, the
// API server's types, defaults and validation judge each object, Pod Security Standards each pod, and
// Compose's loader the Compose file.
//
//	validate kubernetes DIR...   prints the objects as YAML; exit 1 and the mistakes on stderr
//	validate compose FILE PROFILE...
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "wanted: validate kubernetes DIR... or validate compose FILE PROFILE...")
		os.Exit(2)
	}
	var mistakes []string
	switch command := os.Args[1]; command {
	case "kubernetes":
		for _, dir := range os.Args[2:] {
			for _, mistake := range checkKustomization(dir) {
				mistakes = append(mistakes, dir+": "+mistake)
			}
		}
	case "compose":
		mistakes = checkCompose(os.Args[2], os.Args[3:])
	default:
		mistakes = []string{"unknown command " + command}
	}
	for _, mistake := range mistakes {
		fmt.Fprintln(os.Stderr, mistake)
	}
	if len(mistakes) > 0 {
		os.Exit(1)
	}
}
