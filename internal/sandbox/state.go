package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

func emptyWorld() *world {
	return &world{
		Chats: map[int64]*chat{}, Files: map[string]*file{}, Callbacks: map[string]*callback{},
		Checkouts: map[string]*checkout{}, Commands: map[string]json.RawMessage{}, Menus: map[int64]json.RawMessage{},
		Profile: map[string]string{}, Links: map[string]*invoice{},
		NextUpdate: 100_000_000, NextPerson: 500_100_001, NextChannel: 1_002_000_000_001,
	}
}

// load reads the file, or makes the seed where there is none.
func (s *Sandbox) load() error {
	s.w = emptyWorld()
	if s.cfg.StateFile != "" {
		raw, err := os.ReadFile(s.cfg.StateFile)
		if err == nil {
			if err := json.Unmarshal(raw, s.w); err != nil {
				return fmt.Errorf("sandbox: read %s: %w", s.cfg.StateFile, err)
			}
			return s.loadFiles()
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("sandbox: read the state: %w", err)
		}
	}
	if !s.cfg.Empty {
		s.seed()
	}
	return s.save()
}

func (s *Sandbox) loadFiles() error {
	for id, f := range s.w.Files {
		data, err := os.ReadFile(s.filePath(id))
		if err != nil {
			return fmt.Errorf("sandbox: read a file of the state: %w", err)
		}
		f.data = data
	}
	return nil
}

// save writes the state beside the old one and renames: a kill leaves one of
// the two, whole. The caller holds mu.
func (s *Sandbox) save() error {
	s.dirty = false
	if s.cfg.StateFile == "" {
		return nil
	}
	raw, err := json.Marshal(s.w)
	if err != nil {
		return fmt.Errorf("sandbox: save: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(s.cfg.StateFile), 0o700); err != nil {
		return fmt.Errorf("sandbox: save: %w", err)
	}
	tmp := s.cfg.StateFile + ".new"
	if err := os.WriteFile(tmp, raw, 0o600); err != nil {
		return fmt.Errorf("sandbox: save: %w", err)
	}
	return os.Rename(tmp, s.cfg.StateFile)
}

func (s *Sandbox) filePath(id string) string {
	return filepath.Join(filepath.Dir(s.cfg.StateFile), "sandbox-files", id)
}

func (s *Sandbox) saveFile(f *file) error {
	if s.cfg.StateFile == "" {
		return nil
	}
	path := s.filePath(f.ID)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("sandbox: save a file: %w", err)
	}
	return os.WriteFile(path, f.data, 0o600)
}

// seed makes two people and a channel of each, which the bot is not yet in.
func (s *Sandbox) seed() {
	ann := s.newPerson("Ann", "Fisher", "ann_sandbox", "en")
	boris := s.newPerson("Борис", "Орлов", "boris_sandbox", "ru")
	s.newChannel(ann.ID, "Harbour Notes", "harbour_notes", "Ships, tides and the people of the port")
	s.newChannel(boris.ID, "Северный день", "severny_den", "Новости города коротко и по делу")
}

func (s *Sandbox) newPerson(first, last, username, lang string) *person {
	p := &person{ID: s.w.NextPerson, FirstName: first, LastName: last, Username: username, Lang: lang, Stars: 5000}
	s.w.NextPerson++
	s.w.People = append(s.w.People, p)
	s.privateChat(p)
	s.dirty = true
	return p
}

func (s *Sandbox) newChannel(owner int64, title, username, about string) *chat {
	c := &chat{
		ID: -s.w.NextChannel, Type: typeChannel, Title: title, Username: username, About: about, Owner: owner,
		BotStatus: statusLeft, Members: []int64{owner}, Followers: 128,
	}
	s.w.NextChannel++
	s.w.Chats[c.ID] = c
	s.add(c, &message{Author: owner, Service: raw(obj{"channel_chat_created": true})})
	return c
}

type obj = map[string]any

// raw is for values that always marshal.
func raw(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
