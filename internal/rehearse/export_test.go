package rehearse

// AnswerGraphQL answers a query of an empty GitHub.
func AnswerGraphQL(query string) []byte {
	return encode(new(GitHub).graphql(encode(object{"query": query})))
}
