// Calls CNI plugins through the library that containerd and nerdctl use, set up as containerd's CRI sets it up.
// One request as JSON on stdin, one answer as JSON on stdout; exit 0 also when the library answered with an error.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	cni "github.com/containerd/go-cni"
	"github.com/containernetworking/cni/pkg/types"
)

// A request names one method of the library, its networks, and the sandbox it is about.
type request struct {
	Method     string   `json:"method"`
	PluginDirs []string `json:"pluginDirs"`
	// Every list in it is an interface, eth0 and on, in the order of the file names.
	ConfDir string `json:"confDir"`
	ID      string `json:"id"`
	Netns   string `json:"netns"`
	// What becomes CNI_ARGS.
	Labels map[string]string `json:"labels"`
	// By name; a plugin is given those that its list declares for it.
	Capabilities map[string]any `json:"capabilities"`
}

type answer struct {
	Error string `json:"error,omitempty"`
	// The plugin's error code; 0 when the error is not a plugin's.
	Code uint `json:"code,omitempty"`
	// Addresses of each interface that the plugins told of.
	Interfaces map[string][]string `json:"interfaces,omitempty"`
}

func main() {
	reply, err := serve(context.Background())
	if err != nil {
		reply = answer{Error: err.Error()}
		var told *types.Error
		if errors.As(err, &told) {
			reply.Code = told.Code
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(reply); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(ctx context.Context) (answer, error) {
	var asked request
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		return answer{}, err
	}
	networks := []cni.Opt{cni.WithLoNetwork, cni.WithAllConf}
	if asked.Method == "Check" {
		networks = networks[1:] // the library's own list for loopback is of a version without CHECK
	}
	library, err := cni.New(
		cni.WithMinNetworkCount(len(networks)),
		cni.WithPluginDir(asked.PluginDirs),
		cni.WithPluginConfDir(asked.ConfDir),
	)
	if err != nil {
		return answer{}, err
	}
	if err := library.Load(networks...); err != nil {
		return answer{}, err
	}

	options := []cni.NamespaceOpts{cni.WithLabels(asked.Labels)}
	for name, value := range asked.Capabilities {
		options = append(options, cni.WithCapability(name, value))
	}
	switch asked.Method {
	case "Setup":
		result, err := library.Setup(ctx, asked.ID, asked.Netns, options...)
		if err != nil {
			return answer{}, err
		}
		return answer{Interfaces: addresses(result)}, nil
	case "Check":
		return answer{}, library.Check(ctx, asked.ID, asked.Netns, options...)
	case "Remove":
		return answer{}, library.Remove(ctx, asked.ID, asked.Netns, options...)
	case "Status":
		return answer{}, library.Status()
	default:
		return answer{}, fmt.Errorf("no such method: %q", asked.Method)
	}
}

func addresses(result *cni.Result) map[string][]string {
	found := map[string][]string{}
	for name, configured := range result.Interfaces {
		for _, address := range configured.IPConfigs {
			found[name] = append(found[name], address.IP.String())
		}
	}
	return found
}
