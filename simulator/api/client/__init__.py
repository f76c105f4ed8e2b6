"""The client side of the API: HTTP, where and as whom to connect, lists and watches."""
