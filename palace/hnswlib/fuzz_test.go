package hnswlib_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"castellan/palace/hnswlib"
	"castellan/palace/hnswlib/hnswtest"
)

func FuzzHeader(f *testing.F) {
	f.Add(sound()[hnswlib.HeaderFile])
	f.Add(hnswlib.NewHeader(384, 16, 100, 100).Append(nil))
	f.Add(make([]byte, 100))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := hnswlib.ParseHeader(b)
		if err != nil {
			var short *hnswlib.ShortError
			if len(b) >= hnswlib.HeaderSize || !errors.As(err, &short) {
				t.Errorf("%d bytes: %v", len(b), err)
			}
			return
		}
		if string(h.Append(nil)) != string(b[:hnswlib.HeaderSize]) {
			t.Errorf("%x came back as %x", b, h.Append(nil))
		}
		faults := h.Check(8)
		if h.Layout() != nil && faults == nil {
			t.Errorf("%+v has no layout and no faults", h)
		}
		if h.Layout() == nil && (h.Dimension() < 1 || h.ElementSize != 4*(2*h.M+1)+4*uint64(h.Dimension())+8) {
			t.Errorf("%+v passes for readable", h)
		}
		for _, v := range faults {
			_ = v.String()
		}
	})
}

func FuzzOpen(f *testing.F) {
	// Small inputs: the fuzzer's own work grows with their length.
	for _, n := range []int{0, 2, 9} {
		dir := f.TempDir()
		if err := hnswtest.Write(dir, hnswtest.Segment{Dimension: 2, M: 2, Vectors: vectors(n, 2)}); err != nil {
			f.Fatal(err)
		}
		var files [4][]byte
		for i, name := range []string{hnswlib.HeaderFile, hnswlib.Level0File, hnswlib.LengthFile, hnswlib.LinksFile} {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				f.Fatal(err)
			}
			files[i] = b
		}
		const size = 2*2*4 + 4 + 2*4 + 8
		f.Add(files[0], files[1][:n*size], files[2][:n*4], files[3])
	}
	f.Fuzz(func(t *testing.T, header, level0, length, links []byte) {
		dir := t.TempDir()
		for name, b := range map[string][]byte{
			hnswlib.HeaderFile: header, hnswlib.Level0File: level0, hnswlib.LengthFile: length, hnswlib.LinksFile: links,
		} {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r, err := hnswlib.Open(dir)
		if err != nil {
			_ = err.Error()
			return
		}
		defer r.Close()
		ctx := context.Background()
		h := r.Header()
		labels := make(map[uint64]int)
		zero := 0
		err = r.Labels(ctx, func(_ int, label uint64, _ bool) error {
			labels[label]++
			if label == 0 {
				zero++
			}
			return nil
		})
		if complete := uint64(len(level0))/h.ElementSize >= h.Elements; complete != (err == nil) {
			t.Errorf("labels of %d bytes for %d elements: %v", len(level0), h.Elements, err)
		}
		full, err := r.Examine(ctx, 0, 0)
		if err != nil {
			t.Fatalf("nothing is wrong with the disk: %v", err)
		}
		if full.Faults == nil {
			unique := len(labels) == r.Stored() && zero == 0
			links := full.Links.Records == int(h.Elements) && full.Links.BadRecords == 0 &&
				full.Links.Bytes == int64(len(links)) && full.Links.MaxLevel >= int(h.MaxLevel)
			if !unique || !links || full.Short != 0 || uint64(len(length)) < 4*h.Elements || h.Capacity < h.Elements {
				t.Errorf("passes for sound: %+v", full)
			}
		}
		if _, err := r.Examine(ctx, 8, 3); err != nil {
			t.Errorf("sample: %v", err)
		}
		all := make([]int, r.Stored())
		for i := range all {
			all[i] = i
		}
		if err := r.Vectors(ctx, all, func(int, []float32) error { return nil }); err != nil {
			t.Errorf("vectors: %v", err)
		}
		_ = r.Norms(ctx, all, make([]float32, len(all)))
	})
}
