before the error
<% $Response->{Clean} = 0; die "a secret of the page\n"; %>
