package views

import (
	"castellan/ui"
)

// tasks is what has been done and what is still going.
type tasks struct {
	list
}

func newTasks(a *App) *tasks {
	s := &tasks{newList(a, "task", "tasks",
		ui.Column{Title: "TASK", Priority: 10, Flex: true, Min: 12},
		ui.Column{Title: "STATE", Priority: 9},
		ui.Column{Title: "SINCE", Priority: 5},
	)}
	s.table.Empty = "No tasks yet. So far everything was looking, and looking changes nothing. What was said on the way is in the messages of this session: press : and type messages."
	s.registry = a.register(s.listKeys(false))
	return s
}

func (s *tasks) crumb() string { return "tasks" }
