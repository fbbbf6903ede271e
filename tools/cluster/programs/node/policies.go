package main

import (
	"sync"

	"github.com/cloudnativelabs/kube-router/v2/pkg/controllers/netpol"
	"github.com/cloudnativelabs/kube-router/v2/pkg/healthcheck"
	"github.com/cloudnativelabs/kube-router/v2/pkg/options"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// enforcePolicies runs the part of kube-router that makes network policies iptables' rules.
func enforcePolicies(kubeconfig, node, services string) {
	config := options.NewKubeRouterConfig()
	config.ClusterIPCIDRs = []string{services}
	config.EnableIPv4 = true
	config.HostnameOverride = node
	access, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	must(err)
	client, err := kubernetes.NewForConfig(access)
	must(err)

	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods().Informer()
	spaces := factory.Core().V1().Namespaces().Informer()
	policies := factory.Networking().V1().NetworkPolicies().Informer()
	stop := make(chan struct{})
	factory.Start(stop)
	factory.WaitForCacheSync(stop)

	tables, sets, err := netpol.NewIPTablesHandlers(config)
	must(err)
	var mutex sync.Mutex
	controller, err := netpol.NewNetworkPolicyController(client, config, pods, policies, spaces, &mutex, tables, sets)
	must(err)
	for informer, handler := range map[cache.SharedIndexInformer]cache.ResourceEventHandler{
		pods: controller.PodEventHandler, spaces: controller.NamespaceEventHandler, policies: controller.NetworkPolicyEventHandler,
	} {
		_, err = informer.AddEventHandler(handler)
		must(err)
	}

	beats := make(chan *healthcheck.ControllerHeartbeat)
	go func() {
		for range beats {
		}
	}()
	var running sync.WaitGroup
	running.Add(1)
	controller.Run(beats, stop, &running)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
