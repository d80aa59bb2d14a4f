package specimen

import (
	"fmt"
	"strings"
)

// goodVector is the vector of one of the sample "fresh"'s drawers.
const goodVector = "(SELECT vector FROM embeddings_queue WHERE seq_id = 1)"

// appendQueue logs writes to the drawers that have not been applied; each is
// the values of operation, id, vector, encoding and metadata.
func appendQueue(rows ...string) apply {
	var list []string
	for _, r := range rows {
		list = append(list, fmt.Sprintf(`INSERT INTO embeddings_queue(topic, created_at, operation, id, vector, encoding, metadata)
			VALUES({topic}, '2026-06-01 12:00:00', %s)`, r))
	}
	return statements(list...)
}

// queueCases are about the write-ahead queue. Each bad row comes with a good
// one after it.
func queueCases() []Sickness {
	good := "2, 'late', " + goodVector + `, 'FLOAT32', '{"wing":"wing_late","chroma:document":"filed late"}'`
	bad := func(name, title, story string, effect Effect, row string) Sickness {
		return Sickness{
			Name: name, Title: title, Story: story, Case: "Chroma: embeddings_queue", Base: "fresh", Effect: effect,
			Apply: appendQueue(row, good),
		}
	}
	return []Sickness{
		{
			Name: "queue-unapplied", Title: "writes not applied yet", Case: "MemPalace #1295", Base: "healthy", Effect: Works,
			Story: "205 drawers are acknowledged but only in the queue. Chroma applies them when it next looks; a repair by MemPalace would drop them.",
			Apply: inTurn(
				forgetRows("id BETWEEN 1296 AND 1500"),
				statements("UPDATE max_seq_id SET seq_id = 1295 WHERE segment_id = {metadata}"),
			),
		},
		bad("queue-row-bad-json", "queue row is no JSON", "One write's metadata breaks off in the middle: no log of the collection can be read any more.", Refuses,
			"2, 'bad', "+goodVector+`, 'FLOAT32', '{"wing":"wing_'`),
		bad("queue-row-without-vector", "queue row without vector", "One write adds a drawer without a vector.", Refuses,
			`2, 'bad', NULL, NULL, '{"wing":"wing_bad"}'`),
		bad("queue-row-short-vector", "queue row of the wrong length", "One write has a vector of 100 numbers in a collection of 384. Chroma does not check it and reads on beyond it.", Wrong,
			"2, 'bad', substr("+goodVector+", 1, 400), 'FLOAT32', '{}'"),
		bad("queue-row-bad-operation", "queue row that does nothing known", "One write has operation 9. Chroma's compactor dies over it, at every start.", Refuses,
			"9, 'bad', "+goodVector+", 'FLOAT32', '{}'"),
		bad("queue-row-bad-encoding", "queue row in unknown numbers", "One write's vector is of INT32, which Chroma names and does not implement.", Refuses,
			"2, 'bad', "+goodVector+", 'INT32', '{}'"),
		{
			Name: "queue-row-bad-time", Title: "queue row without a time", Case: "Chroma: embeddings_queue", Base: "fresh", Effect: Wrong,
			Story: "One write's time cannot be parsed: the row is there and Chroma never sees it.",
			Apply: inTurn(appendQueue(strings.Replace(good, "'late'", "'bad'", 1), good),
				statements("UPDATE embeddings_queue SET created_at = 'yesterday' WHERE id = 'bad'")),
		},
	}
}
