package locks_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"castellan/locks"
)

func ExampleDo() {
	home, err := os.MkdirTemp("", "home")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(home)
	palace := locks.Target{Path: "/srv/palace"}
	opt := locks.TakeOptions{Home: home}
	write := func(ctx context.Context) error {
		return locks.Do(ctx, palace, opt, func(context.Context) error {
			fmt.Println("written")
			return nil
		})
	}

	err = locks.Do(context.Background(), palace, opt, func(ctx context.Context) error {
		if err := write(ctx); err != nil { // under our lease
			return err
		}
		return write(context.Background()) // a stranger
	})
	var held *locks.HeldError
	if errors.As(err, &held) {
		fmt.Println("held by ourselves:", held.Self)
	}
	fmt.Println(write(context.Background()))
	// Output:
	// written
	// held by ourselves: true
	// written
	// <nil>
}
