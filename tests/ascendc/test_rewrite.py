"""Launches become calls, and nothing else changes."""

import pytest

from torch_npu.ascendc.errors import AscendcError
from torch_npu.ascendc.rewrite import GLOBAL, c_parameters, rewrite
from torch_npu.ascendc.text import split

LAUNCHES = {
    "k<<<8, nullptr, s>>>(x, y);": ' ::softnpu::kernel::launch_of(k, "k", 8, nullptr, s)(x, y);',
    "ns::k<<<b, l2, s>>>();": ' ::softnpu::kernel::launch_of(ns::k, "ns::k", b, l2, s)();',
    "::k<<<b, l2, s>>>(x);": ' ::softnpu::kernel::launch_of(::k, "::k", b, l2, s)(x);',
    "k<float, 2><<<1, nullptr, s>>>(x);": ' ::softnpu::kernel::launch_of(k<float, 2>, "k<float, 2>", 1, nullptr, s)(x);',
    "a::k<v<v<int>>> <<<1, 0, s>>>(x);": ' ::softnpu::kernel::launch_of(a::k<v<v<int>>>, "a::k<v<v<int>>>", 1, 0, s)(x);',
    "a<T>::k<(1 > 2)><<<1, 0, s>>>(x);": ' ::softnpu::kernel::launch_of(a<T>::k<(1 > 2)>, "a<T>::k<(1 > 2)>", 1, 0, s)(x);',
    "(*f)<<<1, 0, s>>>(x);": ' ::softnpu::kernel::launch_of((*f), "(*f)", 1, 0, s)(x);',
    "k<<<f(a, b), g[h(1, 2)], cast<v<v<int>>>(s)>>>(x);": ' ::softnpu::kernel::launch_of(k, "k", f(a, b), g[h(1, 2)], cast<v<v<int>>>(s))(x);',
    "k<<<a<b, 0, s>>>(x);": ' ::softnpu::kernel::launch_of(k, "k", a<b, 0, s)(x);',
    "k<<<f<1, 2>(3), p->x, s>>>(x);": ' ::softnpu::kernel::launch_of(k, "k", f<1, 2>(3), p->x, s)(x);',
    "k << <1, 0, s>> > (x);": ' ::softnpu::kernel::launch_of(k, "k", 1, 0, s) (x);',
    "case 1:k<<<1, 0, s>>>(x);": 'case 1: ::softnpu::kernel::launch_of(k, "k", 1, 0, s)(x);',
    "if (a < b) k<<<1, 0, s>>>(x > y);": 'if (a < b)  ::softnpu::kernel::launch_of(k, "k", 1, 0, s)(x > y);',
    "k<<<n >> 2, (a >> 1), s>>>(x);": ' ::softnpu::kernel::launch_of(k, "k", n >> 2, (a >> 1), s)(x);',
    'k<<<1, ">>>(", s>>>(x);': ' ::softnpu::kernel::launch_of(k, "k", 1, ">>>(", s)(x);',
}


@pytest.mark.parametrize("source", LAUNCHES)
def test_a_launch_becomes_a_call(source):
    assert rewrite(source, "a.cpp").text == LAUNCHES[source]


@pytest.mark.parametrize(
    "source",
    [
        "// k<<<1, 0, s>>>(x);",
        "/* k<<<1, 0, s>>>(x);\n k<<<1>>>(x); */",
        's = "k<<<1, 0, s>>>(x)";',
        r's = "\"k<<<1, 0, s>>>(x)";',
        's = R"(k<<<1, 0, s>>>(x))";',
        's = u8R"a(")" k<<<1, 0, s>>>(x))a";',
        "c = '\"'; d = '<'; e = u'\\'';",
        "n = 1'000'000 << 3; a <<= b << c; x = y << (z < 3);",
        'std::cout << a << "<<<" << b; operator<< <char>(o, c); a.operator<<<char>(c);',
        "template <typename T> struct s<v<v<v<T>>>> : v<v<v<T>>>(0) {};",
        "#define L k<<<1, 0, s>>>(x)",
    ],
)
def test_other_code_stays(source):
    assert rewrite(source, "a.cpp").text == source


def test_lines_stay():
    source = "a;\nk\n<<<1,\n nullptr,\n s>>>\n(x,\n y);\nb;\n"
    text = rewrite(source, "a.cpp").text
    assert text.count("\n") == source.count("\n")
    assert text.splitlines()[-1] == "b;"
    assert rewrite(source.replace("<<<", "<<\n<"), "a.cpp").text.count("\n") == 9


def test_all_launches_of_a_line():
    text = rewrite("k<<<1, 0, s>>>(x); k<<<2, 0, s>>>(y);", "a.cpp").text
    assert text.count("launch_of(k") == 2
    assert "<<<" not in text


@pytest.mark.parametrize(
    ("launch", "sentence"),
    [
        ("k<<<1>>>(x);", "launch of k has 1 values"),
        ("k<<<1, s>>>(x);", "launch of k has 2 values"),
        ("k<<<1, 0, s>>>;", "has no >>>(arguments)"),
        ("k<<<1, 0, s;", "has no >>>(arguments)"),
        ("= <<<1, 0, s>>>(x);", "no kernel is named before <<<"),
    ],
)
def test_a_wrong_launch_names_its_line(launch, sentence):
    with pytest.raises(AscendcError) as error:
        rewrite(f'# 1 "a.cpp"\nint a;\n\n{launch}\n', "b.ii")
    assert str(error.value).startswith("a.cpp:3: ")
    assert sentence in str(error.value)
    assert "<<<blocks, l2ctrl, stream>>>(arguments)" in str(error.value)


def test_headers_of_the_system_are_not_read():
    source = '# 1 "/usr/include/x" 1 3\nk<<<1>>>(x);\n# 5 "a.cpp" 2\nk<<<1, 0, s>>>(x);\n'
    text = rewrite(source, "a.cpp").text
    assert "k<<<1>>>(x);" in text
    assert "launch_of(k" in text


def test_a_kernel_with_the_name_of_a_c_function_gets_another_one_in_cpp():
    c_function = "extern double hypot (double x, double y) noexcept (true);"
    system = f'# 1 "/usr/include/math.h" 1 3 4\n{c_function}\n# 1 "a.cpp" 2\n'
    author = f'extern "C" {GLOBAL} void hypot(int x) {{}}\nvoid f() {{ ::hypot<<<1, 0, s>>>(hypot(3., 4.)); }}\n'
    found = rewrite(system + author, "a.cpp")
    assert c_function in found.text
    assert "void softnpu_kernel_hypot(int x) {}" in found.text
    assert '::launch_of(::softnpu_kernel_hypot, "::hypot", 1, 0, s)(hypot(3., 4.));' in found.text
    assert [(k.name, k.qualified) for k in found.kernels] == [("hypot", "softnpu_kernel_hypot")]
    assert "softnpu_kernel" not in rewrite(author, "a.cpp").text


KERNELS = f"""
extern "C" {GLOBAL} void declared(GM_ADDR x);
extern "C" {GLOBAL} void add(GM_ADDR x, __attribute__((x)) float* y, uint32_t n, half a) {{ if (n) {{ }} }}
namespace a::b {{ {GLOBAL} void inner(void) {{}} namespace {{ {GLOBAL} inline void hidden(int) {{}} }} }}
extern "C" {{ {GLOBAL} void in_block(std::pair<int, int> p, const T* t = nullptr) noexcept {{}} }}
template <typename T> {GLOBAL} void output_of(T x) {{}}
{GLOBAL} void twice(int a) {{}}
{GLOBAL} void twice(float a) {{}}
struct S {{ {GLOBAL} void member(int a) {{}} }};
void host() {{ "}}"; }}
{GLOBAL} void last() {{}}
"""


def test_the_kernels_that_can_be_found_by_name():
    found = rewrite(KERNELS, "a.cpp")
    assert GLOBAL not in found.text
    assert {k.name: k.qualified for k in found.kernels} == {
        "add": "add",
        "inner": "a::b::inner",
        "hidden": "a::b::hidden",
        "in_block": "in_block",
        "last": "last",
    }
    kernels = {k.name: k for k in found.kernels}
    assert str(kernels["add"].location) == "a.cpp:3"
    assert [d for d, _ in c_parameters(kernels["add"])] == [
        "void* x",
        "void* y",
        "uint32_t n",
        "half a",
    ]
    assert c_parameters(kernels["inner"]) == []
    assert c_parameters(kernels["hidden"]) == [("int argument0", "argument0")]
    assert [d for d, _ in c_parameters(kernels["in_block"])] == ["std::pair<int, int> p", "void* t"]


def test_split():
    assert split("a, f(b, c), v<d, e>, {g, h}") == ["a", "f(b, c)", "v<d, e>", "{g, h}"]
    assert split(" ") == []
