package queue

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
)

// Registry holds the kinds and schedules that a process can work. Fill it before the engine starts.
type Registry struct {
	mu        sync.Mutex
	kinds     map[string]*spec     // guarded by mu until the engine starts, then read only
	schedules map[string]*schedule // likewise
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	return &Registry{kinds: map[string]*spec{}, schedules: map[string]*schedule{}}
}

// Register adds a kind. It panics on a duplicate name and on a kind that cannot work: programming errors.
func Register[A any](r *Registry, k Kind[A]) {
	s := k.spec()
	if err := s.check(); err != nil {
		panic("queue: " + err.Error())
	}
	if k.Key == nil || k.Work == nil {
		panic(fmt.Sprintf("queue: kind %s needs Key and Work", k.Name))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kinds[k.Name] != nil {
		panic(fmt.Sprintf("queue: kind %s registered twice", k.Name))
	}
	r.kinds[k.Name] = s
}

// Kinds returns the names of the registered kinds, sorted.
func (r *Registry) Kinds() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := make([]string, 0, len(r.kinds))
	for name := range r.kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (r *Registry) kind(name string) *spec {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.kinds[name]
}

func (r *Registry) ofTier(t Tier) []*spec {
	r.mu.Lock()
	defer r.mu.Unlock()
	var of []*spec
	for _, s := range r.kinds {
		if s.tier == t {
			of = append(of, s)
		}
	}
	slices.SortFunc(of, func(a, b *spec) int { return cmp.Compare(a.name, b.name) })
	return of
}
