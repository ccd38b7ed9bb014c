package main

import (
	"context"

	"github.com/compose-spec/compose-go/v2/cli"
)

// checkCompose loads a Compose file as the Compose client does before it does anything else.
func checkCompose(file string, profiles []string) []string {
	options, err := cli.NewProjectOptions([]string{file}, cli.WithProfiles(profiles), cli.WithName("sluice"))
	if err != nil {
		return []string{err.Error()}
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		return []string{err.Error()}
	}
	if err := project.CheckContainerNameUnicity(); err != nil {
		return []string{err.Error()}
	}
	return nil
}
