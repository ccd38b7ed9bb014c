package main

import (
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/apps"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	appsvalidation "k8s.io/kubernetes/pkg/apis/apps/validation"
	"k8s.io/kubernetes/pkg/apis/autoscaling"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	autoscalingvalidation "k8s.io/kubernetes/pkg/apis/autoscaling/validation"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/apis/networking"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	networkingvalidation "k8s.io/kubernetes/pkg/apis/networking/validation"
	"k8s.io/kubernetes/pkg/apis/policy"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	policyvalidation "k8s.io/kubernetes/pkg/apis/policy/validation"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	psa "k8s.io/pod-security-admission/api"
	psapolicy "k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// checkKustomization builds a folder, prints what came out, and judges every object of it.
func checkKustomization(dir string) []string {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return []string{err.Error()}
	}
	var mistakes []string
	for _, resource := range built.Resources() {
		yaml, err := resource.AsYAML()
		if err != nil {
			return append(mistakes, err.Error())
		}
		fmt.Printf("---\n%s", yaml)
		for _, mistake := range checkObject(yaml) {
			mistakes = append(mistakes, fmt.Sprintf("%s %s: %s", resource.GetKind(), resource.GetName(), mistake))
		}
	}
	return mistakes
}

// checkObject does what the API server does to an object that is created.
func checkObject(yaml []byte) []string {
	scheme := legacyscheme.Scheme
	strict := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme,
		json.SerializerOptions{Yaml: true, Strict: true})
	object, _, err := strict.Decode(yaml, nil, nil)
	if err != nil {
		return []string{err.Error()}
	}
	scheme.Default(object)
	fillIn(object)
	mistakes := checkPodSecurity(object)
	internal, err := scheme.UnsafeConvertToVersion(object, runtime.InternalGroupVersioner)
	if err != nil {
		return append(mistakes, err.Error())
	}
	found, known := validate(internal)
	if !known {
		mistakes = append(mistakes, "this validator does not know the kind")
	}
	for _, mistake := range found {
		mistakes = append(mistakes, mistake.Error())
	}
	return mistakes
}

// fillIn sets what the API server sets before it validates and other than by defaults: the namespace,
// and a Service's addresses.
func fillIn(object runtime.Object) {
	switch typed := object.(type) {
	case *corev1.Namespace:
		return
	case *corev1.Service:
		if typed.Spec.ClusterIP == corev1.ClusterIPNone {
			typed.Spec.ClusterIPs = []string{corev1.ClusterIPNone}
		}
	}
	if accessor, err := meta.Accessor(object); err == nil && accessor.GetNamespace() == "" {
		accessor.SetNamespace("default")
	}
}

func validate(object runtime.Object) (mistakes field.ErrorList, known bool) {
	switch typed := object.(type) {
	case *apps.Deployment:
		options := pod.GetValidationOptionsFromPodTemplate(&typed.Spec.Template, nil)
		return appsvalidation.ValidateDeployment(typed, options), true
	case *core.Namespace:
		return corevalidation.ValidateNamespace(typed), true
	case *core.Service:
		return corevalidation.ValidateServiceCreate(typed), true
	case *core.ServiceAccount:
		return corevalidation.ValidateServiceAccount(typed), true
	case *core.ConfigMap:
		return corevalidation.ValidateConfigMap(typed), true
	case *core.Secret:
		return corevalidation.ValidateSecret(typed), true
	case *policy.PodDisruptionBudget:
		options := policyvalidation.PodDisruptionBudgetValidationOptions{}
		return policyvalidation.ValidatePodDisruptionBudget(typed, options), true
	case *autoscaling.HorizontalPodAutoscaler:
		options := autoscalingvalidation.HorizontalPodAutoscalerSpecValidationOptions{MinReplicasLowerBound: 1}
		return autoscalingvalidation.ValidateHorizontalPodAutoscaler(typed, options), true
	case *networking.NetworkPolicy:
		options := networkingvalidation.NetworkPolicyValidationOptions{}
		return networkingvalidation.ValidateNetworkPolicy(typed, options), true
	default:
		return nil, false
	}
}

// checkPodSecurity holds pods to the level "restricted" of the Pod Security Standards.
func checkPodSecurity(object runtime.Object) []string {
	deployment, ok := object.(*appsv1.Deployment)
	if !ok {
		return nil
	}
	evaluator, err := psapolicy.NewEvaluator(psapolicy.DefaultChecks())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	level := psa.LevelVersion{Level: psa.LevelRestricted, Version: psa.LatestVersion()}
	template := deployment.Spec.Template
	var mistakes []string
	for _, result := range evaluator.EvaluatePod(level, &template.ObjectMeta, &template.Spec) {
		if !result.Allowed {
			mistakes = append(mistakes, fmt.Sprintf("restricted: %s: %s", result.ForbiddenReason, result.ForbiddenDetail))
		}
	}
	return mistakes
}
