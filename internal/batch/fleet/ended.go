package fleet

// Ended says that belayd has ended, after it has said why.
type Ended struct {
	code int
	said string
}

func (e *Ended) Error() string {
	if e.said != "" {
		return e.said
	}
	return "belayd, which speaks with the fleet, has ended"
}
