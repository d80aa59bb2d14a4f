// Package durable makes what was written last through a crash of the machine,
// where the file system can promise it.
package durable
